# Serves the site on loopback, with its files in the current folder.
SOURCE=$(dirname "$0") RUN=$PWD MODULES=/usr/lib/apache2/modules
export SOURCE RUN MODULES
exec apache2 -d "$RUN" -f "$SOURCE/site.conf" -DFOREGROUND
