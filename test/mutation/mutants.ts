import { parseAst } from 'vitest/node'

/** One small change of a source file that a test should notice. */
export interface Mutant {
  readonly start: number
  readonly end: number
  readonly replacement: string
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

const otherOperator: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '&&': '||',
  '||': '&&',
  '??': '&&',
  '+=': '-=',
  '-=': '+=',
}
const otherFunction: Readonly<Record<string, string>> = {
  min: 'max',
  max: 'min',
  floor: 'ceil',
  ceil: 'floor',
  some: 'every',
  every: 'some',
}
/** In SQL of a template: the text, and its replacement. */
const otherSql: readonly (readonly [RegExp, string])[] = [
  [/ AND /g, ' OR '],
  [/ OR /g, ' AND '],
  [/ <= /g, ' < '],
  [/ >= /g, ' > '],
  [/ < /g, ' <= '],
  [/ > /g, ' >= '],
  [/ <> /g, ' = '],
  [/ \+ /g, ' - '],
  [/ - /g, ' + '],
  [/\bmin\(/g, 'max('],
  [/\bmax\(/g, 'min('],
  [/\bsum\(/g, 'max('],
  [/IS NOT NULL/g, 'IS NULL'],
  [/ NOT /g, ' '],
]
const isSql = /\b(SELECT|WHERE|CASE|FILTER|coalesce|count)\b/

/**
 * Every mutant of a source file, in order of position. Types, imports and error messages have none.
 */
export function mutantsOf(source: string): readonly Mutant[] {
  const mutants: Mutant[] = []
  const add = (start: number, end: number, replacement: string) =>
    mutants.push({ start, end, replacement })
  const operatorAt = (left: Node, right: Node, operator: string) => {
    const other = otherOperator[operator]
    const at = source.indexOf(operator, left.end)
    if (other !== undefined && at >= 0 && at < right.start) add(at, at + operator.length, other)
  }
  const visitSql = (node: Node, text: string) => {
    for (const [wanted, other] of otherSql) {
      for (const found of text.matchAll(wanted)) {
        add(node.start + found.index, node.start + found.index + found[0].length, other)
      }
    }
  }
  const visit = (node: Node, inSql: boolean) => {
    if (node.type.startsWith('TS') && !/^TS(As|NonNull|Satisfies)/.test(node.type)) return
    let sql = inSql
    switch (node.type) {
      case 'ImportDeclaration':
      case 'ThrowStatement':
        return
      case 'BinaryExpression':
      case 'LogicalExpression':
      case 'AssignmentExpression':
        operatorAt(node.left as Node, node.right as Node, node.operator as string)
        break
      case 'Literal':
        if (typeof node.value === 'number') add(node.start, node.end, String(node.value + 1))
        if (typeof node.value === 'boolean') add(node.start, node.end, String(!node.value))
        break
      case 'ConditionalExpression':
      case 'IfStatement': {
        const { start, end } = node.test as Node
        add(start, end, `!(${source.slice(start, end)})`)
        break
      }
      case 'MemberExpression': {
        const { type, name, start, end } = node.property as Node
        const other = otherFunction[name as string]
        if (type === 'Identifier' && other !== undefined && !node.computed) add(start, end, other)
        break
      }
      case 'TemplateLiteral':
        sql = isSql.test(source.slice(node.start, node.end))
        break
      case 'TemplateElement':
        if (inSql) visitSql(node, source.slice(node.start, node.end))
        break
    }
    for (const [key, child] of Object.entries(node)) {
      if (key === 'typeAnnotation' || key === 'returnType') continue
      for (const each of Array.isArray(child) ? child : [child]) {
        if (each !== null && typeof each === 'object' && typeof each.type === 'string') {
          visit(each as Node, sql)
        }
      }
    }
  }
  visit(parseAst(source, { lang: 'ts' }) as unknown as Node, false)
  return mutants
    .filter(({ start }, at) => mutants.findIndex((each) => each.start === start) === at)
    .sort((a, b) => a.start - b.start)
}
