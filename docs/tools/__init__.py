"""What keeps the pages true: they quote tables that runs have made, and are held to them."""
