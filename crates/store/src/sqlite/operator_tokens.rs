//! Named tokens of the operator's API in SQLite.

use async_trait::async_trait;
use domain::ids::OperatorTokenId;
use domain::{Secret, Ticks};
use rusqlite::{Connection, OptionalExtension, params};

use super::audit::append_audit;
use super::directory::change;
use super::rows::{AFTER, IN_ORDER, find, list, parse};
use super::{SqliteStore, exists, store_error};
use crate::operator_tokens::{OPERATOR_TOKEN, TOKEN_USE_PRECISION};
use crate::{AuditContext, ListPage, ListQuery, NamedToken, OperatorTokens, Result};

const TOKEN: &str = "SELECT id, name, role, created_at, created_by, expires_at, last_used_at, revoked_at
     FROM operator_tokens";

fn find_row(connection: &Connection, id: &OperatorTokenId) -> Result<Option<NamedToken>> {
    find(connection, &format!("{TOKEN} WHERE id = ?1"), id.as_str(), parse)
}

#[async_trait]
impl OperatorTokens for SqliteStore {
    async fn add_operator_token(
        &self,
        token: &NamedToken,
        secret: &Secret,
        context: &AuditContext,
    ) -> Result<()> {
        let hash = self.ports().vault.fingerprint(OPERATOR_TOKEN, secret);
        let (one, act, random) = (token.clone(), self.act(context), self.ports().random.clone());
        self.write(move |writer| {
            writer
                .execute(
                    "INSERT INTO operator_tokens (id, name, role, hash, created_at, created_by, expires_at,
                         last_used_at, revoked_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                    params![
                        one.id.as_str(),
                        one.name,
                        one.role.code(),
                        hash,
                        one.created_at.0,
                        one.created_by,
                        one.expires_at.map(|at| at.0),
                        one.last_used_at.map(|at| at.0),
                        one.revoked_at.map(|at| at.0)
                    ],
                )
                .map_err(exists(one.described()))?;
            append_audit(writer, &*random, act.operator_token_added(&one))
        })
        .await
    }

    async fn list_operator_tokens(&self, query: &ListQuery) -> Result<ListPage<NamedToken>> {
        self.read(|reader| list(reader, &format!("{TOKEN} WHERE {AFTER} {IN_ORDER}"), query, parse))
    }

    async fn list_operator_tokens_by(
        &self,
        created_by: &str,
        query: &ListQuery,
    ) -> Result<ListPage<NamedToken>> {
        let (created_at, id) = query.after();
        let sql = format!(
            "{TOKEN} INDEXED BY operator_tokens_by_creator WHERE created_by = ?4 AND {AFTER} {IN_ORDER}"
        );
        self.read(|reader| {
            let rows = reader
                .prepare_cached(&sql)
                .and_then(|mut all| {
                    all.query_map(params![created_at, id, query.limit(), created_by], parse)?.collect()
                })
                .map_err(store_error)?;
            Ok(query.page(rows))
        })
    }

    async fn find_operator_token(&self, id: &OperatorTokenId) -> Result<Option<NamedToken>> {
        self.read(|reader| find_row(reader, id))
    }

    async fn find_operator_token_by_name(&self, name: &str) -> Result<Option<NamedToken>> {
        let sql = format!("{TOKEN} WHERE name = ?1 AND revoked_at IS NULL");
        self.read(|reader| find(reader, &sql, name, parse))
    }

    async fn find_operator_token_by_secret(&self, secret: &Secret) -> Result<Option<NamedToken>> {
        let hash = self.ports().vault.fingerprint(OPERATOR_TOKEN, secret);
        self.read(|reader| {
            reader
                .prepare_cached(&format!("{TOKEN} WHERE hash = ?1"))
                .and_then(|mut find| find.query_row([hash], parse).optional())
                .map_err(store_error)
        })
    }

    async fn revoke_operator_token(
        &self,
        id: &OperatorTokenId,
        now: Ticks,
        context: &AuditContext,
    ) -> Result<bool> {
        let (id, act, random) = (id.clone(), self.act(context), self.ports().random.clone());
        self.write(move |writer| {
            let revoked = change(
                writer,
                "UPDATE operator_tokens SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL",
                params![id.as_str(), now.0],
            )?;
            if let (true, Some(after)) = (revoked, find_row(writer, &id)?) {
                append_audit(writer, &*random, act.operator_token_revoked(&after))?;
            }
            Ok(revoked)
        })
        .await
    }

    async fn record_operator_token_use(&self, id: &OperatorTokenId, at: Ticks) -> Result<()> {
        let (id, due) = (id.clone(), at.minus(TOKEN_USE_PRECISION));
        self.write(move |writer| {
            change(
                writer,
                "UPDATE operator_tokens SET last_used_at = ?2
                 WHERE id = ?1 AND (last_used_at IS NULL OR last_used_at <= ?3)",
                params![id.as_str(), at.0, due.0],
            )
            .map(drop)
        })
        .await
    }
}
