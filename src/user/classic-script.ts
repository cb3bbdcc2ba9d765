/**
 * A module as a part of a classic script, in which what it imports is in scope: its imports go, and its exports are plain
 * declarations. A page without a server can have no modules.
 *
 * @param module its imports name what they import, and it exports only constants and functions
 * @throws Error for any other module
 */
export function asClassic(module: string): string {
  const script = module
    .replace(/^import (?:\w+|\* as \w+|\{[^}]*\}) from '[^']*'$/gm, '')
    .replace(/^export (?=const |function )/gm, '')
  const [other] = /^(?:import|export)\b.*/m.exec(script) ?? []
  if (other !== undefined) throw new Error(`no part of a classic script: ${other}`)
  return script
}
