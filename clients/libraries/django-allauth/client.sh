aldaba client add "Sales panel" --redirect-uri "$APP/accounts/oidc/aldaba/login/callback/" --post-logout-uri "$APP/" \
  --pkce required --json
