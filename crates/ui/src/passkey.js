// Runs a WebAuthn ceremony when a form with `data-passkey` is submitted, writes the response as JSON into the form's
// field `passkey`, and submits the form. `data-passkey` is "create" or "get"; `data-passkey-options` has the options in
// their JSON form. If it cannot go on, it shows the element whose `data-passkey-message` names the reason. It makes no
// requests.
(() => {
  "use strict";

  const decode = (text) => {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  };

  const encode = (buffer) => {
    const binary = Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join("");
    return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  };

  const decodeIds = (credentials) => credentials.map((one) => ({ ...one, id: decode(one.id) }));

  // The browser's own conversions (parseCreationOptionsFromJSON, toJSON) are newer than passkeys, and extensions that
  // replace the browser's passkeys often lack them.
  const ceremonies = {
    create: {
      run: (options) =>
        navigator.credentials.create({
          publicKey: {
            ...options,
            challenge: decode(options.challenge),
            user: { ...options.user, id: decode(options.user.id) },
            excludeCredentials: decodeIds(options.excludeCredentials),
          },
        }),
      response: (response) => ({
        attestationObject: encode(response.attestationObject),
        transports: response.getTransports ? response.getTransports() : [],
      }),
    },
    get: {
      run: (options) =>
        navigator.credentials.get({
          publicKey: {
            ...options,
            challenge: decode(options.challenge),
            allowCredentials: decodeIds(options.allowCredentials),
          },
        }),
      response: (response) => ({
        authenticatorData: encode(response.authenticatorData),
        signature: encode(response.signature),
        userHandle: response.userHandle ? encode(response.userHandle) : null,
      }),
    },
  };

  // The message for an error of the browser. A cancelled, a refused and a timed-out ceremony look the same to a page.
  const reason = (error) => {
    switch (error && error.name) {
      case "InvalidStateError":
        return "registered";
      case "ConstraintError":
      case "NotSupportedError":
      case "SecurityError":
        return "unsupported";
      default:
        return "cancelled";
    }
  };

  const prepare = (form) => {
    const ceremony = ceremonies[form.dataset.passkey];
    const options = JSON.parse(form.dataset.passkeyOptions);
    const field = form.querySelector('input[name="passkey"]');
    const button = form.querySelector('button[type="submit"]');
    let state = "idle";

    const show = (name) => {
      for (const message of form.querySelectorAll("[data-passkey-message]")) {
        message.hidden = message.dataset.passkeyMessage !== name;
      }
    };

    const reset = () => {
      state = "idle";
      field.value = "";
      button.disabled = false;
    };

    const run = async () => {
      state = "running";
      button.disabled = true;
      show(null);
      try {
        const credential = await ceremony.run(options);
        const response = {
          id: credential.id,
          rawId: encode(credential.rawId),
          type: credential.type,
          response: {
            clientDataJSON: encode(credential.response.clientDataJSON),
            ...ceremony.response(credential.response),
          },
        };
        reset();
        field.value = JSON.stringify(response);
        state = "answered";
        HTMLFormElement.prototype.requestSubmit.call(form, button);
      } catch (error) {
        reset();
        show(reason(error));
        button.focus();
      }
    };

    // The page may come back from the browser's history with the last response still in its field.
    reset();
    window.addEventListener("pageshow", (event) => event.persisted && reset());

    if (!window.PublicKeyCredential || !navigator.credentials) {
      button.disabled = true;
      show("unsupported");
      return;
    }
    form.addEventListener("submit", (event) => {
      if (state === "answered") {
        return;
      }
      event.preventDefault();
      if (state === "idle") {
        run();
      }
    });
  };

  document.querySelectorAll("form[data-passkey]").forEach(prepare);
})();
