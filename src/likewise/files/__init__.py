"""Files in and out: whole or not at all, and errors that name the file, the line and the way out.

Import from the modules; nothing is gathered here, so that one of them costs no other.
"""
