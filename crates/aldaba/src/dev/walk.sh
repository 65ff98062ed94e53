# sign in as maria@example.com: in a browser, with the link above, or like this
CODE=$(aldaba dev token --code)
# exchange the code (a browser shows it in the address bar, behind code=)
curl -sS $AUTH/auth/core/connect/token -d grant_type=authorization_code -d code=$CODE \
  -d redirect_uri=http://localhost:8765/callback -d client_id=$CLIENT -d client_secret=$SECRET
# both at once, for what follows
export ACCESS=$(aldaba dev token)
# list the companies
curl -sS $BASE/accounting/api/companies -H "authorization: Bearer $ACCESS" -H "Ocp-Apim-Subscription-Key: $KEY"
# list the customers of one
curl -sS "$BASE/accounting/api/customers?pageSize=3" -H "authorization: Bearer $ACCESS" \
  -H "Ocp-Apim-Subscription-Key: $KEY" -H "context: {\"clientId\":\"$COMPANY\"}"
# subscribe the receiver to changes of customers; it accepts
WEBHOOK=$(curl -sS $BASE/accounting/api/customers/webhooks/subscribe -H "authorization: Bearer $ACCESS" \
  -H "Ocp-Apim-Subscription-Key: $KEY" -H 'context: none' -H 'content-type: application/json' \
  -d '{"thirdPartyApplicationName":"Panel","url":"'"$RECEIVER"'/hooks","secret":"a secret of my own",
       "eventTypes":["Svc.ACC.Customers.CustomerCreated","Svc.ACC.Customers.CustomerUpdated"]}' \
  | sed 's/.*"webhookId":"\([^"]*\)".*/\1/'); echo $WEBHOOK
curl -sS "$RECEIVER/deliveries?handshakes=1"
# make a change, and see it arrive: signature valid
curl -sS $OPERATOR/operator/v1/tenants/$TENANT/changes -H "authorization: Bearer $TOKEN" \
  -H 'content-type: application/json' -d '[{"area":"accounting","resource":"customers","company":"'"$COMPANY"'",
    "action":"upsert","correlationId":"hotel","data":{"tradeName":"Hotel Ávila","accountCode":"43000009999"}}]'
curl -sS "$RECEIVER/deliveries?delivered=1"
# break the receiver, change the record again, and watch the retries
curl -sS -X PUT $RECEIVER/mood -d fail
curl -sS $OPERATOR/operator/v1/tenants/$TENANT/changes -H "authorization: Bearer $TOKEN" \
  -H 'content-type: application/json' -d '[{"area":"accounting","resource":"customers","company":"'"$COMPANY"'",
    "action":"upsert","correlationId":"hotel","data":{"tradeName":"Hotel Ulía","accountCode":"43000009999"}}]'
curl -sS "$RECEIVER/deliveries?failed=2"
# mend it, and see the next attempt succeed
curl -sS -X PUT $RECEIVER/mood -d ok
curl -sS "$RECEIVER/deliveries?delivered=2"
# have both sent again: the same ids, the same bytes
curl -sS $BASE/accounting/api/customers/webhooks/$WEBHOOK/replay -H "authorization: Bearer $ACCESS" \
  -H "Ocp-Apim-Subscription-Key: $KEY" -H 'context: none' -H 'content-type: application/json' \
  -d '{"from":"2020-01-01"}'
curl -sS "$RECEIVER/deliveries?delivered=4"
