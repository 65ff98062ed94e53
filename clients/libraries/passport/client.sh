aldaba client add "Sales panel" --redirect-uri "$APP/callback" --post-logout-uri "$APP/" --callback-id-token never --json
