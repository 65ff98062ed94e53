aldaba client add "Sales panel" --redirect-uri "$APP/signin-oidc" --post-logout-uri "$APP/signout-callback-oidc" \
  --pkce required --json
