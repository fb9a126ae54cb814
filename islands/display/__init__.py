"""What people see while a run lasts, on the terminal and in log.txt."""
