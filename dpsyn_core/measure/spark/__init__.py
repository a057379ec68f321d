"""Records on a Spark cluster: encoded, bounded and counted by its executors; nothing but counts comes to the driver."""
