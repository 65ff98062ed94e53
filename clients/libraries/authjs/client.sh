aldaba client add "Sales panel" --redirect-uri "$APP/auth/callback/aldaba" --post-logout-uri "$APP/" --pkce required --json
