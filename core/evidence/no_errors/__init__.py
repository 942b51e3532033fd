"""What names errors though none is reported: found, and left out, before a text is asked for its error."""
