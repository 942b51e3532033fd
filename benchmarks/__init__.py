"""What the project claims of its speed and memory: one file per hot path, `make bench` runs them all."""
