"""What every stage shares: the values of a run, the errors, the seams, text. Nothing here knows a stage."""
