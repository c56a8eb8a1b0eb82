"""What the side runs of tune and prove measured."""
