"use strict";

SwaggerUIBundle({
  dom_id: "#swagger-ui",
  url: "openapi.json",
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: "list",
  persistAuthorization: false, // a key stays in the page's memory only
  tryItOutEnabled: true,
  validatorUrl: null, // nothing leaves this service
});
