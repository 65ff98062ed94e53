package receiver

import (
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
)

// BodyBytesMax is larger than any notification.
const BodyBytesMax = 4 << 20

var guid = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// Handler receives the requests of the service:
//
//   - It answers 401 to a missing or wrong signature.
//   - It answers the Acknowledge of the accounting family and the echo of invoicing.
//   - It answers 413 to a body over the limit.
//   - It calls the function with every event, and answers 200; where the function fails, it answers 500 and the service
//     delivers the event again.
//
// The service waits 5 seconds for the response: put longer work into a queue. The service treats a response with a
// cookie as a failure, so no middleware around the handler may set one.
type Handler struct {
	verifier *Verifier
	handle   func(context.Context, Event) error
	// OnRefused is called with the reason when a delivery is refused, or when the function failed. The sender does not
	// get the reason.
	OnRefused func(request *http.Request, reason error)
}

// NewHandler returns a handler that calls handle with every event.
func NewHandler(verifier *Verifier, handle func(context.Context, Event) error) *Handler {
	return &Handler{verifier: verifier, handle: handle}
}

// ServeHTTP receives one request.
func (h *Handler) ServeHTTP(writer http.ResponseWriter, request *http.Request) {
	switch request.Method {
	case http.MethodGet:
		echo(writer, request)
	case http.MethodPost:
		status, text := h.receive(writer, request)
		answer(writer, status, text)
	default:
		writer.Header().Set("Allow", "GET, POST")
		answer(writer, http.StatusMethodNotAllowed, "Send deliveries with POST.")
	}
}

// echo answers the handshake of invoicing. It is not signed, so only a GUID is echoed.
func echo(writer http.ResponseWriter, request *http.Request) {
	if asked := request.URL.Query().Get("echo"); guid.MatchString(asked) {
		answer(writer, http.StatusOK, asked)
		return
	}
	answer(writer, http.StatusBadRequest, "GET requires the query echo=<GUID>.")
}

func (h *Handler) receive(writer http.ResponseWriter, request *http.Request) (int, string) {
	body, err := io.ReadAll(http.MaxBytesReader(writer, request.Body, BodyBytesMax))
	if err != nil {
		h.refused(request, err)
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return http.StatusRequestEntityTooLarge, "The body is too large."
		}
		return http.StatusBadRequest, "The body is incomplete."
	}
	if _, err := h.verifier.Verify(request.Header, body); err != nil {
		h.refused(request, err)
		return http.StatusUnauthorized, "The signature does not match."
	}
	event, err := Parse(request.Header, body)
	if err != nil {
		h.refused(request, err)
		return http.StatusBadRequest, "The body is not a notification."
	}
	if event != nil {
		if err := h.handle(request.Context(), *event); err != nil {
			h.refused(request, err)
			return http.StatusInternalServerError, "The event could not be processed. Try again."
		}
	}
	return http.StatusOK, ""
}

func (h *Handler) refused(request *http.Request, reason error) {
	if h.OnRefused != nil {
		h.OnRefused(request, reason)
	}
}

func answer(writer http.ResponseWriter, status int, text string) {
	writer.Header().Set("Content-Type", "text/plain; charset=utf-8")
	writer.WriteHeader(status)
	_, _ = io.WriteString(writer, text)
}
