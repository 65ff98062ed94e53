//! The stories, by what they are about.

mod administration;
mod backup;
mod bad_input;
mod changes_command;
mod configuration;
mod crash;
mod credentials;
mod cut_off;
mod dev;
mod dev_again;
mod door;
mod door_refusals;
mod full_disk;
mod gate;
mod gateway;
mod idempotency;
mod identity;
mod memory;
mod nodes;
mod openapi;
mod operations;
mod operator_api;
mod sample;
mod shutdown;
mod tls;
mod webhooks;
