"""Reports as people write them: prose, blocks, captions, and what is said of an answer that is not shown."""
