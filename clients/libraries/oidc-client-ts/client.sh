aldaba client add "Sales panel" --kind browser --redirect-uri "$APP/callback" --post-logout-uri "$APP/" --json
