"""What the site needs beside Sphinx."""
