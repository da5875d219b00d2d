"""Print what the build needs to know about this interpreter: the version, the folder of the headers, the suffix of
extensions, and the folder for packages, one per line.

If the interpreter is not supported, print `reason: ...` instead. The build does not use Meson's own Python module,
because in Debian 12 that module needs distutils, which CPython 3.12 no longer has.
"""

import os
import sys
import sysconfig

VERSION = '%d.%d' % sys.version_info[:2]
HEADERS = sysconfig.get_path('include')

if sys.implementation.name != 'cpython' or not (3, 11) <= sys.version_info[:2] <= (3, 13):
    print('reason: coil supports CPython 3.11 to 3.13, not %s %s'
          % (sys.implementation.name, VERSION))
elif sysconfig.get_config_var('Py_GIL_DISABLED'):
    print('reason: coil does not support free-threaded builds of CPython')
elif not os.path.exists(os.path.join(HEADERS, 'Python.h')):
    print('reason: the package coil needs the headers of Python %s (python3-dev)' % VERSION)
else:
    print(VERSION)
    print(HEADERS)
    print(sysconfig.get_config_var('EXT_SUFFIX').lstrip('.'))
    print(sysconfig.get_path('platlib'))
