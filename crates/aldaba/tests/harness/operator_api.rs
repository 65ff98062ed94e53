//! A client of the operator API.

use hyper::Method;
use serde_json::{Value, json};

use super::{HttpRequest, HttpResponse, Server, wait_for};

pub(crate) struct OperatorApi<'a>(pub(crate) &'a Server);

impl OperatorApi<'_> {
    /// A request with the operator's token, to a path below `/operator/v1`.
    pub(crate) fn request(&self, method: Method, path: &str) -> HttpRequest {
        let token = format!("Bearer {}", self.0.installation.token());
        HttpRequest::new(method, &format!("{}/operator/v1{path}", self.0.operator_url))
            .header("authorization", &token)
    }

    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> HttpResponse {
        self.request(Method::GET, path).send()
    }

    #[track_caller]
    pub(crate) fn put(&self, path: &str) -> HttpResponse {
        self.request(Method::PUT, path).send()
    }

    #[track_caller]
    pub(crate) fn delete(&self, path: &str) -> HttpResponse {
        self.request(Method::DELETE, path).send()
    }

    #[track_caller]
    pub(crate) fn post(&self, path: &str, body: &Value) -> HttpResponse {
        self.send(Method::POST, path, body)
    }

    #[track_caller]
    pub(crate) fn patch(&self, path: &str, body: &Value) -> HttpResponse {
        self.send(Method::PATCH, path, body)
    }

    #[track_caller]
    fn send(&self, method: Method, path: &str, body: &Value) -> HttpResponse {
        self.request(method, path).header("content-type", "application/json").body(body.to_string()).send()
    }

    /// Posts a body, expects 201 and returns the created object.
    #[track_caller]
    pub(crate) fn create(&self, path: &str, body: &Value) -> Value {
        let response = self.post(path, body);
        assert_eq!(response.status, 201, "{response:?}");
        response.json()
    }

    /// The usage of a subscription that has been flushed so far.
    #[track_caller]
    pub(crate) fn usage(&self, subscription: &str) -> Value {
        let response = self.get(&format!("/subscriptions/{subscription}/usage"));
        assert_eq!(response.status, 200, "{response:?}");
        response.json()
    }

    /// Waits until the usage counts this many calls.
    #[track_caller]
    pub(crate) fn wait_for_usage(&self, subscription: &str, calls: u64) -> Value {
        wait_for("the usage to be flushed", || {
            let usage = self.usage(subscription);
            assert!(usage["calls"].as_u64().unwrap() <= calls, "{usage}");
            (usage["calls"] == calls).then_some(usage)
        })
    }

    #[track_caller]
    pub(crate) fn set_quota(&self, subscription: &str, quota: &Value) {
        let body = json!({ "dailyQuota": quota });
        let response = self.patch(&format!("/subscriptions/{subscription}"), &body);
        assert_eq!((response.status, &response.json()["dailyQuota"]), (200, quota), "{response:?}");
    }

    /// Reads a whole list in pages of this size; `list` is the member that holds the items.
    #[track_caller]
    pub(crate) fn read_all_pages(&self, path: &str, list: &str, page_size: usize) -> Vec<Value> {
        let (mut all, mut after) = (Vec::new(), String::new());
        loop {
            let response = self.get(&format!("{path}?pageSize={page_size}{after}"));
            assert_eq!(response.status, 200, "{response:?}");
            let page = response.json();
            let page_items = page[list].as_array().unwrap();
            assert!(page_items.len() <= page_size, "{page}");
            all.extend(page_items.iter().cloned());
            let Some(next) = page["next"].as_str() else { return all };
            after = format!("&after={next}");
        }
    }
}

impl HttpResponse {
    /// The field of the first entry in `errors`.
    #[track_caller]
    pub(crate) fn problem_field(&self) -> String {
        self.json()["errors"][0]["field"].as_str().unwrap_or_else(|| panic!("{self:?}")).to_owned()
    }
}
