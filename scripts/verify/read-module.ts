import type { CallExpression, Expression, MemberExpression, ParseResult } from 'oxc-parser'
import { Visitor } from 'oxc-parser'
import { readSource } from './source-file.ts'

export type Import = { specifier: string; line: number }

/** What the architecture needs to know of one source file. */
export type Module = {
  /** Every way of naming another module: import, import type, export from, import(), require, import.meta.resolve. */
  imports: Import[]
  /** Lines that load a module whose name cannot be read from the source. */
  hiddenImports: number[]
  starExports: number[]
  environmentReads: number[]
  /** The file declares nothing and only passes on what others export. */
  isBarrel: boolean
  syntaxErrors: { line: number; message: string }[]
}

export function readModule(path: string, source: string): Module {
  const { parsed, lineAt } = readSource(path, source)
  const module: Module = {
    imports: [],
    hiddenImports: [],
    starExports: [],
    environmentReads: [],
    isBarrel: isBarrel(parsed),
    syntaxErrors: parsed.errors.map((error) => ({
      line: lineAt(error.labels[0]?.start ?? 0),
      message: error.message,
    })),
  }
  readStaticImports(parsed, lineAt, module)
  readExpressions(parsed, lineAt, module)
  return module
}

function readStaticImports(parsed: ParseResult, lineAt: (offset: number) => number, module: Module): void {
  for (const statement of parsed.module.staticImports) {
    const specifier = statement.moduleRequest.value
    module.imports.push({ specifier, line: lineAt(statement.start) })
    // createRequire loads whatever it likes; a whole namespace of node:module holds it as well.
    const opens = statement.entries.some(
      (entry) => entry.importName.kind !== 'Name' || entry.importName.name === 'createRequire',
    )
    if (/^(?:node:)?module$/.test(specifier) && opens) module.hiddenImports.push(lineAt(statement.start))
    if (/^(?:node:)?process$/.test(specifier)) module.environmentReads.push(lineAt(statement.start))
  }
  for (const statement of parsed.module.staticExports) {
    for (const entry of statement.entries) {
      if (entry.moduleRequest === null) continue
      module.imports.push({ specifier: entry.moduleRequest.value, line: lineAt(statement.start) })
      if (entry.importName.kind === 'All' || entry.importName.kind === 'AllButDefault')
        module.starExports.push(lineAt(statement.start))
    }
  }
}

function readExpressions(parsed: ParseResult, lineAt: (offset: number) => number, module: Module): void {
  const name = (request: Expression | undefined, start: number): void => {
    const specifier = request === undefined ? undefined : literalText(request)
    if (specifier === undefined) module.hiddenImports.push(lineAt(start))
    else module.imports.push({ specifier, line: lineAt(start) })
  }
  new Visitor({
    ImportExpression: (node) => name(node.source, node.start),
    TSImportType: (node) => name(node.source, node.start),
    TSExternalModuleReference: (node) => name(node.expression, node.start),
    CallExpression: (node) => {
      if (!loadsModule(node)) return
      const request = node.arguments[0]
      name(request?.type === 'SpreadElement' ? undefined : request, node.start)
    },
    MemberExpression: (node) => {
      if (memberName(node) === 'env' && isProcess(node.object))
        module.environmentReads.push(lineAt(node.start))
    },
    VariableDeclarator: (node) => {
      if (node.init === null || !isProcess(node.init) || node.id.type !== 'ObjectPattern') return
      // `const { env } = process`, and `...rest`, which holds it too.
      const takesEnv = node.id.properties.some(
        (property) =>
          property.type === 'RestElement' ||
          (property.key.type === 'Identifier' && property.key.name === 'env'),
      )
      if (takesEnv) module.environmentReads.push(lineAt(node.start))
    },
  }).visit(parsed.program)
}

function loadsModule(call: CallExpression): boolean {
  if (call.callee.type === 'Identifier') return call.callee.name === 'require'
  if (call.callee.type !== 'MemberExpression' || memberName(call.callee) !== 'resolve') return false
  const { object } = call.callee
  return object.type === 'MetaProperty' || (object.type === 'Identifier' && object.name === 'require')
}

function isProcess(node: Expression): boolean {
  if (node.type === 'Identifier') return node.name === 'process'
  return node.type === 'MemberExpression' && memberName(node) === 'process'
}

function isBarrel(parsed: ParseResult): boolean {
  const { body } = parsed.program
  const passesOn = body.some(
    (node) => node.type === 'ExportAllDeclaration' || node.type === 'ExportNamedDeclaration',
  )
  const declares = body.some(
    (node) =>
      node.type !== 'ImportDeclaration' &&
      node.type !== 'ExportAllDeclaration' &&
      !(node.type === 'ExportNamedDeclaration' && node.declaration === null),
  )
  return passesOn && !declares
}

/** The name in `object.name` and in `object['name']`. */
export function memberName(node: MemberExpression): string | undefined {
  if (!node.computed && node.property.type === 'Identifier') return node.property.name
  return node.property.type === 'PrivateIdentifier' ? undefined : literalText(node.property)
}

export function literalText(node: Expression): string | undefined {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value
  if (node.type !== 'TemplateLiteral' || node.expressions.length > 0) return undefined
  return node.quasis[0]?.value.cooked ?? undefined
}
