/**
 * A module as a part of a classic script, in which what it imports is in scope: its imports go, and its exports are plain
 * declarations. A page without a server can have no modules.
 */
export const asClassic = (module: string): string =>
  module.replace(/^import [^;]*? from '[^']*'$/gms, '').replace(/^export (?=const|function)/gm, '')
