"""Serves the Django project of a folder on loopback, with a new database in the current folder."""

import logging
import os
import sys
from wsgiref.simple_server import make_server

sys.path.insert(0, sys.argv[1])
os.environ["DJANGO_SETTINGS_MODULE"] = "settings"

from django.core.management import call_command  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402

logging.basicConfig()
application = get_wsgi_application()
call_command("migrate", verbosity=0)
make_server("127.0.0.1", int(os.environ["PORT"]), application).serve_forever()
