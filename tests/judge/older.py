"""What differs in asyncio before 3.13, which is what coil follows."""

import program

OLDEST = (3, 11)


def comparable(text, version):
    """Whether an interpreter of this version should give the trace of 3.13."""
    return version >= (3, 13)
