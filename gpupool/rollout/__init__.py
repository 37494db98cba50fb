"""Plans for a cluster, and their application: sessions, locks, inventories, waits and checks."""
