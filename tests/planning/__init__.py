"""Plans: what they hold, and the files that they are kept in."""
