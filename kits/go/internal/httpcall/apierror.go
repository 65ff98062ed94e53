package httpcall

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// ErrNotFound means that the service answered 404.
var ErrNotFound = errors.New("not found")

const messageBytesMax = 300

// FieldError is one error in a request, with a stable code.
type FieldError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Field   string `json:"field,omitempty"`
}

// APIError is an error response of the service.
type APIError struct {
	// Call is the method and the URL, without the query.
	Call string
	// Status is the HTTP status.
	Status int
	// Code is for programs: the service lists all codes, with causes and cures, at `/docs/errors`. It may be empty.
	Code string
	// Message is for people.
	Message string
	// RequestID is the id to report to the operator of the service.
	RequestID string
	// Errors are the individual errors.
	Errors []FieldError
	// RetryAfter is the pause that the service asks for; 0 if it asks for none.
	RetryAfter time.Duration
}

// ErrorBody is the body of an error response.
type ErrorBody struct {
	StatusCode int          `json:"statusCode"`
	Code       string       `json:"code"`
	Message    string       `json:"message"`
	RequestID  string       `json:"requestId"`
	Errors     []FieldError `json:"errors"`
}

// NewAPIError reads the error of a response that is not 2xx.
func NewAPIError(call string, response *Response) *APIError {
	var body ErrorBody
	if json.Unmarshal(response.Body, &body) != nil {
		text := response.Body
		if len(text) > messageBytesMax {
			text = text[:messageBytesMax]
		}
		body.Message = strings.ToValidUTF8(string(text), "")
	}
	retryAfter, _ := RetryAfter(response.Header, time.Now())
	return &APIError{
		Call: call, Status: response.Status, Code: body.Code, Message: body.Message, RequestID: body.RequestID,
		Errors: body.Errors, RetryAfter: retryAfter,
	}
}

func (e *APIError) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %d %s", e.Call, e.Status, e.Message)
	for _, one := range e.Errors {
		if one.Message != e.Message {
			fmt.Fprintf(&text, " [%s] %s", one.Code, one.Message)
		}
	}
	fmt.Fprintf(&text, " (%s; request %s)", e.Remedy(), e.RequestID)
	return text.String()
}

// Is makes errors.Is(err, ErrNotFound) true for a 404.
func (e *APIError) Is(target error) bool {
	return target == ErrNotFound && e.Status == http.StatusNotFound
}

// HasCode says whether the response or one of its errors has this code.
func (e *APIError) HasCode(code string) bool {
	if e.Code == code {
		return true
	}
	for _, one := range e.Errors {
		if one.Code == code {
			return true
		}
	}
	return false
}

// Remedy says what to do about the error, by its status.
func (e *APIError) Remedy() string {
	switch {
	case e.Status == http.StatusBadRequest:
		return "correct the request"
	case e.Status == http.StatusUnauthorized:
		return "check the subscription key, then the token"
	case e.Status == http.StatusForbidden:
		return "request the missing scope at sign-in, or wait for tomorrow's quota"
	case e.Status == http.StatusNotFound:
		return "check the company and the id; records of other tenants are not found either"
	case e.Status == http.StatusConflict:
		return "the request conflicts with the current state; read it before trying again"
	case e.Status == http.StatusRequestEntityTooLarge:
		return "send a smaller request"
	case e.Status == http.StatusTooManyRequests:
		return "wait as long as Retry-After says"
	case e.Status >= 500:
		return "an error of the service; try again later"
	}
	return "see the message"
}
