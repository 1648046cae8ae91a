/** Sources import each other as `./x.js`, as the built program has them; under test the file is `./x.ts`. */
module.exports = (path, options) => {
  try {
    return options.defaultResolver(path, options);
  } catch (fault) {
    const isOurs = path.startsWith('.') && path.endsWith('.js') && !options.basedir.includes('node_modules');
    if (!isOurs) throw fault;
    return options.defaultResolver(path.replace(/\.js$/, '.ts'), options);
  }
};
