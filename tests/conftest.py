"""What holds for all tests."""

import signal

# A shell starts what it runs in the background with Ctrl-C ignored, and so would be every process started from here.
signal.signal(signal.SIGINT, signal.default_int_handler)
