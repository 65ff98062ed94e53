aldaba client add "Sales panel" --redirect-uri "$APP/oidc" --post-logout-uri "$APP/signed-out" --pkce required --json
