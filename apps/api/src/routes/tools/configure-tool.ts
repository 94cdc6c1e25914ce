import { createRoute, z } from '@hono/zod-openapi'
import type { Actor } from '@toolyard/access/actor'
import type { Catalog } from '@toolyard/catalog/create-catalog'
import { requireTool } from '@toolyard/catalog/require-tool'
import { configComplete, configMissing } from '@toolyard/contract/config-messages'
import type { ToolConfig } from '@toolyard/contract/tools'
import {
  configBody,
  configDeletedShape,
  configSavedShape,
  toolConfigShape,
  toolTestShape,
} from '@toolyard/contract/tools'
import { deleteSetting } from '@toolyard/vault/delete-setting'
import { maskedSettings } from '@toolyard/vault/masked-settings'
import { missingKeys } from '@toolyard/vault/missing-keys'
import type { Vault } from '@toolyard/vault/open-vault'
import { putSettings } from '@toolyard/vault/put-settings'
import type { Api } from '../../create-api.ts'
import type { Guard } from '../../http/authenticate.ts'
import { guarded } from '../../http/authenticate.ts'
import { callOf } from '../../http/call-of.ts'
import { problems } from '../../http/problem.ts'
import { findManifest } from './find-manifest.ts'
import { bodyRefusals, refusals } from '../../http/refusals.ts'
import { toolParam } from '../../http/tool-param.ts'

// The answers of these routes have stood in documents since before this program; they stay word for word.

const keyParam = toolParam.extend({
  key: z
    .string()
    .max(200)
    .meta({ param: { name: 'key', in: 'path' } }),
})

const toolRefusals = [...refusals, 'unknown_tool', 'image_failed', 'secrets_unavailable'] as const

const getConfig = (guard: Guard) =>
  createRoute({
    method: 'get',
    path: '/tools/{name}/config',
    tags: ['tools'],
    ...guarded(guard, 'tools:configure'),
    summary: 'What is stored for a tool',
    description: 'Scope `tools:configure`. Secrets are shown as `***`; nobody can read them back.',
    request: { params: toolParam },
    responses: {
      200: { description: 'The settings', content: { 'application/json': { schema: toolConfigShape } } },
      ...problems(...toolRefusals),
    },
  })

const putConfig = (guard: Guard) =>
  createRoute({
    method: 'put',
    path: '/tools/{name}/config',
    tags: ['tools'],
    ...guarded(guard, 'tools:configure'),
    summary: 'Store settings of a tool',
    description:
      'Scope `tools:configure`. Keys that are not named stay as they are, and so does one that is given as `***`.',
    request: {
      params: toolParam,
      body: { required: true, content: { 'application/json': { schema: configBody } } },
    },
    responses: {
      200: { description: 'They are stored', content: { 'application/json': { schema: configSavedShape } } },
      ...problems(...toolRefusals, ...bodyRefusals, 'invalid_config'),
    },
  })

const deleteConfig = (guard: Guard) =>
  createRoute({
    method: 'delete',
    path: '/tools/{name}/config/{key}',
    tags: ['tools'],
    ...guarded(guard, 'tools:configure'),
    summary: 'Forget a setting of a tool',
    description: 'Scope `tools:configure`. `deleted` says whether there was one.',
    request: { params: keyParam },
    responses: {
      200: { description: 'It is gone', content: { 'application/json': { schema: configDeletedShape } } },
      ...problems(...toolRefusals),
    },
  })

const postTest = (guard: Guard) =>
  createRoute({
    method: 'post',
    path: '/tools/{name}/test',
    tags: ['tools'],
    ...guarded(guard, 'tools:configure'),
    summary: 'Whether all required settings of a tool are there',
    description: 'Scope `tools:configure`. Contacts nobody.',
    request: { params: toolParam },
    responses: {
      200: { description: 'Whether they are', content: { 'application/json': { schema: toolTestShape } } },
      ...problems(...toolRefusals),
    },
  })

export type ConfigureToolDeps = { catalog: Catalog; vault: () => Promise<Vault>; guard: Guard }

export function addConfigureToolRoutes(api: Api, { catalog, vault, guard }: ConfigureToolDeps): void {
  const schemaOf = async (actor: Actor, name: string) => {
    requireTool(actor, name)
    return findManifest(await catalog.view(), name).manifest.config_schema
  }
  api.openapi(getConfig(guard), async (c) => {
    const { name } = c.req.valid('param')
    const schema = await schemaOf(callOf(c).actor, name)
    const { config } = await maskedSettings(await vault(), name, schema)
    const shown: ToolConfig = { tool_name: name, config_schema: schema, config }
    return c.json(shown, 200)
  })
  api.openapi(putConfig(guard), async (c) => {
    const { name } = c.req.valid('param')
    const schema = await schemaOf(callOf(c).actor, name)
    const values = c.req.valid('json')
    const keys = await putSettings(await vault(), callOf(c), { tool: name, schema, values })
    return c.json({ saved: true as const, tool_name: name, keys }, 200)
  })
  api.openapi(deleteConfig(guard), async (c) => {
    const { name, key } = c.req.valid('param')
    const { actor } = callOf(c)
    await schemaOf(actor, name)
    const deleted = await deleteSetting((await vault()).pool, callOf(c), { tool: name, key })
    return c.json({ deleted, tool_name: name, key }, 200)
  })
  api.openapi(postTest(guard), async (c) => {
    const { name } = c.req.valid('param')
    const schema = await schemaOf(callOf(c).actor, name)
    const missing = await missingKeys((await vault()).pool, name, schema)
    return c.json(
      missing.length === 0
        ? { ok: true, message: configComplete }
        : { ok: false, message: configMissing(missing) },
      200,
    )
  })
}
