"""Pages and pictures of runs, from their folders."""
