aldaba client add "Sales panel" --redirect-uri "$APP/login/oauth2/code/aldaba" --post-logout-uri "$APP/" \
  --pkce required --json
