# sign in as maria@example.com, in a browser with the link above or with this command
CODE=$(aldaba dev token --code)
# exchange the code for tokens (the browser's address bar shows it after code=)
curl -sS $AUTH/auth/core/connect/token -d grant_type=authorization_code -d code=$CODE \
  -d redirect_uri=http://localhost:8765/callback -d client_id=$CLIENT -d client_secret=$SECRET
# do both in one command, for the next steps
export ACCESS=$(aldaba dev token)
# list the companies
curl -sS $BASE/accounting/api/companies -H "authorization: Bearer $ACCESS" -H "Ocp-Apim-Subscription-Key: $KEY"
# list the customers of a company
curl -sS "$BASE/accounting/api/customers?pageSize=3" -H "authorization: Bearer $ACCESS" \
  -H "Ocp-Apim-Subscription-Key: $KEY" -H "context: {\"clientId\":\"$COMPANY\"}"
# subscribe the receiver to changes of customers; it accepts the handshake
WEBHOOK=$(curl -sS $BASE/accounting/api/customers/webhooks/subscribe -H "authorization: Bearer $ACCESS" \
  -H "Ocp-Apim-Subscription-Key: $KEY" -H 'context: none' -H 'content-type: application/json' \
  -d '{"thirdPartyApplicationName":"Panel","url":"'"$RECEIVER"'/hooks","secret":"a secret of my own",
       "eventTypes":["Svc.ACC.Customers.CustomerCreated","Svc.ACC.Customers.CustomerUpdated"]}' \
  | sed 's/.*"webhookId":"\([^"]*\)".*/\1/'); echo $WEBHOOK
curl -sS "$RECEIVER/deliveries?handshakes=1"
# change a customer and see the delivery arrive with a valid signature
curl -sS $OPERATOR/operator/v1/tenants/$TENANT/changes -H "authorization: Bearer $TOKEN" \
  -H 'content-type: application/json' -d '[{"area":"accounting","resource":"accounts","company":"'"$COMPANY"'",
    "action":"upsert","correlationId":"hotel-account","data":{"code":"43000009999","description":"Hotel Ávila"}},
   {"area":"accounting","resource":"customers","company":"'"$COMPANY"'",
    "action":"upsert","correlationId":"hotel","data":{"tradeName":"Hotel Ávila","accountCode":"43000009999"}}]'
curl -sS "$RECEIVER/deliveries?delivered=1"
# make the receiver fail, change the customer again, and watch the retries
curl -sS -X PUT $RECEIVER/mood -d fail
curl -sS $OPERATOR/operator/v1/tenants/$TENANT/changes -H "authorization: Bearer $TOKEN" \
  -H 'content-type: application/json' -d '[{"area":"accounting","resource":"customers","company":"'"$COMPANY"'",
    "action":"upsert","correlationId":"hotel","data":{"tradeName":"Hotel Ulía","accountCode":"43000009999"}}]'
curl -sS "$RECEIVER/deliveries?failed=2"
# make the receiver work again, and see the next attempt succeed
curl -sS -X PUT $RECEIVER/mood -d ok
curl -sS "$RECEIVER/deliveries?delivered=2"
# replay both events: the same ids and the same bytes
curl -sS $BASE/accounting/api/customers/webhooks/$WEBHOOK/replay -H "authorization: Bearer $ACCESS" \
  -H "Ocp-Apim-Subscription-Key: $KEY" -H 'context: none' -H 'content-type: application/json' \
  -d '{"from":"2020-01-01"}'
curl -sS "$RECEIVER/deliveries?delivered=4"
