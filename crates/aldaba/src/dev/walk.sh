# sign in as maria@example.com, in a browser with the link above or with this command
CODE=$(aldaba dev token --code)
# exchange the code for tokens, as your application does
curl -sS -w '\n' $AUTH/auth/core/connect/token -d grant_type=authorization_code -d code=$CODE \
  -d redirect_uri=http://localhost:8765/callback -d client_id=$CLIENT -d client_secret=$SECRET
# do both in one command, for the next steps
export ACCESS=$(aldaba dev token)
# list the companies
curl -sS -w '\n' $BASE/accounting/api/companies -H "authorization: Bearer $ACCESS" -H "Ocp-Apim-Subscription-Key: $KEY"
# list the customers of a company
curl -sS -w '\n' "$BASE/accounting/api/customers?pageSize=3" -H "authorization: Bearer $ACCESS" \
  -H "Ocp-Apim-Subscription-Key: $KEY" -H "context: {\"clientId\":\"$COMPANY\"}"
# subscribe the receiver to changes of customers; the last call waits for the handshake
ANSWER=$(curl -sS $BASE/accounting/api/customers/webhooks/subscribe -H "authorization: Bearer $ACCESS" \
  -H "Ocp-Apim-Subscription-Key: $KEY" -H 'context: none' -H 'content-type: application/json' \
  -d '{"thirdPartyApplicationName":"Panel","url":"'"$RECEIVER"'/hooks","secret":"a secret of my own",
       "eventTypes":["Svc.ACC.Customers.CustomerCreated","Svc.ACC.Customers.CustomerUpdated"]}'); echo "$ANSWER"
WEBHOOK=$(echo "$ANSWER" | grep -o '"webhookId":"[^"]*' | cut -d '"' -f 4)
curl -sS "$RECEIVER/deliveries?handshakes=1"
# change a customer, and wait for the delivery with a valid signature
curl -sS -w '\n' $OPERATOR/operator/v1/tenants/$TENANT/changes -H "authorization: Bearer $TOKEN" \
  -H 'content-type: application/json' -d '[{"area":"accounting","resource":"accounts","company":"'"$COMPANY"'",
    "action":"upsert","correlationId":"hotel-account","data":{"code":"43000009999","description":"Hotel Ávila"}},
   {"area":"accounting","resource":"customers","company":"'"$COMPANY"'",
    "action":"upsert","correlationId":"hotel","data":{"tradeName":"Hotel Ávila","accountCode":"43000009999"}}]'
curl -sS "$RECEIVER/deliveries?delivered=1"
# make the receiver fail, change the customer again, and wait for the first retry
curl -sS -X PUT $RECEIVER/mood -d fail
curl -sS -w '\n' $OPERATOR/operator/v1/tenants/$TENANT/changes -H "authorization: Bearer $TOKEN" \
  -H 'content-type: application/json' -d '[{"area":"accounting","resource":"customers","company":"'"$COMPANY"'",
    "action":"upsert","correlationId":"hotel","data":{"tradeName":"Hotel Ulía","accountCode":"43000009999"}}]'
curl -sS "$RECEIVER/deliveries?failed=2"
# make the receiver work again, and wait for the next attempt
curl -sS -X PUT $RECEIVER/mood -d ok
curl -sS "$RECEIVER/deliveries?delivered=2"
# replay both events: the same ids and the same bytes
curl -sS -w '\n' $BASE/accounting/api/customers/webhooks/$WEBHOOK/replay -H "authorization: Bearer $ACCESS" \
  -H "Ocp-Apim-Subscription-Key: $KEY" -H 'context: none' -H 'content-type: application/json' \
  -d '{"from":"2020-01-01"}'
curl -sS "$RECEIVER/deliveries?delivered=4"
# make a client and a token for it, and see the attempts: these commands find the running dev by themselves
aldaba client add "My application" --redirect-uri http://localhost:3000/callback
aldaba dev token --client "My application" --user helen@example.com --scope "openid email"
aldaba deliveries list $WEBHOOK
