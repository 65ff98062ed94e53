aldaba client add "Sales panel" --redirect-uri "$APP/oidc/callback/" --post-logout-uri "$APP/" --pkce required --json
