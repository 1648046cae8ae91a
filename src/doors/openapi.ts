import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { PRODUCT_VERSION } from '../config/node-identity.js';

const PLANES = {
  member: 'A human or an agent: a token that begins with `nxm_`.',
  executor_transport: 'One executor at one epoch: a token that begins with `nxe_`.',
  platform: 'An administrator of the account: a token that begins with `nxp_`.',
} as const;

const INTRODUCTION = `
The tool plane for agents and the machines they work on. **Agents** use the member plane, **runners** the executor plane
(mostly over NATS), **administrators** this page with a platform credential.

Press *Authorize*, paste a token into the scheme of its plane, and try any route. Every error is
\`{"error": {"code", "message", "details"?}}\`; the codes of each route are listed with it.`;

/** The OpenAPI document of every REST route, read from the verbs. */
export function openApiDocument(app: INestApplication): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setTitle('Nexus')
    .setVersion(PRODUCT_VERSION)
    .setDescription(INTRODUCTION)
    .setOpenAPIVersion('3.1.0');
  for (const [plane, description] of Object.entries(PLANES)) {
    builder.addBearerAuth({ type: 'http', scheme: 'bearer', description }, plane);
  }
  const document = SwaggerModule.createDocument(app, builder.build());
  document.components = {
    ...document.components,
    schemas: {
      ...document.components?.schemas,
      ErrorEnvelope: {
        type: 'object',
        required: ['error'],
        properties: {
          error: {
            type: 'object',
            required: ['code', 'message'],
            properties: { code: { type: 'string' }, message: { type: 'string' }, details: {} },
          },
        },
      },
    },
  };
  return document;
}

/** Serves the administrators' page at `/docs` and the document at `/docs/json`. */
export function mountDocument(app: INestApplication): void {
  SwaggerModule.setup('docs', app, () => openApiDocument(app), {
    jsonDocumentUrl: 'docs/json',
    customSiteTitle: 'Nexus API',
    swaggerOptions: {
      persistAuthorization: false,
      tryItOutEnabled: true,
      displayRequestDuration: true,
      tagsSorter: 'alpha',
    },
  });
}
