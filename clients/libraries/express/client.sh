aldaba client add "Sales panel" --redirect-uri "$APP/callback" --post-logout-uri "$APP" --pkce required --json
