// Replaced by thread_world and faulty.
