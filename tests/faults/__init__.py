"""What is survived: kills, races, full disks, folders that cannot be written."""
