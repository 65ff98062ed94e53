//! Named tokens of the operator's API in PostgreSQL.

use async_trait::async_trait;
use domain::ids::OperatorTokenId;
use domain::{Secret, Ticks};

use super::PostgresStore;
use super::rows::{AFTER, IN_ORDER, parse};
use crate::operator_tokens::{OPERATOR_TOKEN, TOKEN_USE_PRECISION};
use crate::{AuditContext, ListPage, ListQuery, NamedToken, OperatorTokens, Result};

const TOKEN: &str = "SELECT id, name, role, created_at, created_by, expires_at, last_used_at, revoked_at
     FROM operator_tokens";

#[async_trait]
impl OperatorTokens for PostgresStore {
    async fn add_operator_token(
        &self,
        token: &NamedToken,
        secret: &Secret,
        context: &AuditContext,
    ) -> Result<()> {
        let hash = self.ports().vault.fingerprint(OPERATOR_TOKEN, secret);
        self.insert(
            token.described(),
            "INSERT INTO operator_tokens (id, name, role, hash, created_at, created_by, expires_at, last_used_at,
                 revoked_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            &[
                &token.id.as_str(),
                &token.name,
                &token.role.code(),
                &hash.as_slice(),
                &token.created_at.0,
                &token.created_by,
                &token.expires_at.map(|at| at.0),
                &token.last_used_at.map(|at| at.0),
                &token.revoked_at.map(|at| at.0),
            ],
            self.act(context).operator_token_added(token),
        )
        .await
    }

    async fn list_operator_tokens(&self, query: &ListQuery) -> Result<ListPage<NamedToken>> {
        let rows = self.list(&format!("{TOKEN} WHERE {AFTER} {IN_ORDER}"), query).await?;
        Ok(query.page(rows.iter().map(parse).collect::<Result<_>>()?))
    }

    async fn list_operator_tokens_by(
        &self,
        created_by: &str,
        query: &ListQuery,
    ) -> Result<ListPage<NamedToken>> {
        let (created_at, id) = query.after();
        let sql =
            format!("{TOKEN} WHERE created_by = $4 AND {AFTER} ORDER BY created_by, created_at, id LIMIT $3");
        let rows = self.rows(&sql, &[&created_at, &id, &query.limit(), &created_by]).await?;
        Ok(query.page(rows.iter().map(parse).collect::<Result<_>>()?))
    }

    async fn find_operator_token(&self, id: &OperatorTokenId) -> Result<Option<NamedToken>> {
        self.row(&format!("{TOKEN} WHERE id = $1"), &[&id.as_str()]).await?.as_ref().map(parse).transpose()
    }

    async fn find_operator_token_by_name(&self, name: &str) -> Result<Option<NamedToken>> {
        let sql = format!("{TOKEN} WHERE name = $1 AND revoked_at IS NULL");
        self.row(&sql, &[&name]).await?.as_ref().map(parse).transpose()
    }

    async fn find_operator_token_by_secret(&self, secret: &Secret) -> Result<Option<NamedToken>> {
        let hash = self.ports().vault.fingerprint(OPERATOR_TOKEN, secret);
        let row = self.row(&format!("{TOKEN} WHERE hash = $1"), &[&hash.as_slice()]).await?;
        row.as_ref().map(parse).transpose()
    }

    async fn revoke_operator_token(
        &self,
        id: &OperatorTokenId,
        now: Ticks,
        context: &AuditContext,
    ) -> Result<bool> {
        let update = "UPDATE operator_tokens SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL";
        let (revoked, _) = self
            .update_row(
                (update, &[&id.as_str(), &now.0]),
                (&format!("{TOKEN} WHERE id = $1"), id.as_str()),
                parse,
                |_, after| self.act(context).operator_token_revoked(after),
            )
            .await?;
        Ok(revoked)
    }

    async fn record_operator_token_use(&self, id: &OperatorTokenId, at: Ticks) -> Result<()> {
        let sql = "UPDATE operator_tokens SET last_used_at = $2
             WHERE id = $1 AND (last_used_at IS NULL OR last_used_at <= $3)";
        let due = at.minus(TOKEN_USE_PRECISION);
        self.change(sql, &[&id.as_str(), &at.0, &due.0]).await.map(drop)
    }
}
