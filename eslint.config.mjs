import js from '@eslint/js';
import prettier from 'eslint-config-prettier';
import globals from 'globals';
import tseslint from 'typescript-eslint';

/** Imports point one way: a layer may import what stands before it, and what stands beside it in the same group. */
const LAYERS = [
  ['kernel', 'errors', 'config'],
  ['db'],
  ['doors', 'bus'],
  ['console-page', 'health', 'identity'],
  ['announcement'],
  ['discovery'],
  ['assembly'],
  ['routing'],
  ['effects'],
  ['work'],
  ['retention', 'mesh'],
];

/** What both ends of the wire need: imported by the server's bus and by the runner, it imports neither. */
const SHARED = ['nkeys', 'services-protocol'];

/** What a layer must not import: everything behind it, the runner, the command, the wiring. */
function layerRules(layer, behind) {
  const pattern = [...behind, 'runner', 'cli', 'launch'].join('|');
  return {
    files: [`src/${layer}/**/*.ts`],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: `^\\.\\./(\\.\\./)*(${pattern})/`,
              message: 'Imports point one way: see LAYERS in eslint.config.mjs.',
            },
            {
              regex: '^\\.\\./(\\.\\./)*(app\\.module|create-node|main)\\.js$',
              message: 'Nothing imports the wiring.',
            },
          ],
        },
      ],
    },
  };
}

const layers = [
  ...SHARED.map((layer) => layerRules(layer, LAYERS.flat())),
  ...LAYERS.flatMap((group, index) =>
    group.map((layer) => layerRules(layer, LAYERS.slice(index + 1).flat())),
  ),
];

/** The runner knows the wire: it imports nothing of the server. */
const runner = {
  files: ['src/runner/**/*.ts'],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: [
          {
            regex: `^\\.\\./(\\.\\./)*(${[...LAYERS.flat(), 'cli', 'launch'].join('|')})/`,
            message: 'The runner imports nothing of the server.',
          },
        ],
      },
    ],
  },
};

export default tseslint.config(
  { ignores: ['node_modules', 'dist', 'coverage', '.nexus', 'bench-results'] },
  js.configs.recommended,
  {
    files: ['**/*.{mjs,cjs}'],
    languageOptions: { globals: globals.node },
    rules: { 'no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }] },
  },
  {
    files: ['src/console-page/page/**/*.js'],
    languageOptions: { globals: globals.browser },
    rules: { 'no-unused-vars': 'error' },
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
    },
  },
  ...layers,
  runner,
  {
    files: ['test/**/*.ts', '**/*.test.ts'],
    rules: {
      'max-lines': 'off',
      // tests read answers of the wire, whose shape is what they check
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
  prettier,
);
