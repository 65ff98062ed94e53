aldaba client add "Sales panel" --redirect-uri "$APP/auth/aldaba/callback" --post-logout-uri "$APP/" \
  --callback-id-token never --json
