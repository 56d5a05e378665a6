"""Arrays in, arrays out: the mathematics underneath, without estimators.

Import from the modules; nothing is gathered here, so that one of them costs no other.
"""
