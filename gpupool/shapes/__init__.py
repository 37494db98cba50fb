"""What every typed model shares: the strict base, small types in their own words, errors as findings."""
