"""What a table is: its description, its values in codes, how it enters and how it leaves."""
