/** Each kind of page has an image for shared links. */
export const imageAlts = {
  home: 'A spider robot, a rover and a walker beside the words Robo Kids Learning',
  classes: 'Four robots, one for each level of our live classes',
  membership: 'A laptop with a small group on a live video call, and a rover beside it',
  innovator: 'A student at a bench with the plan of a spider robot',
  guides: 'An LED and a button, a gear motor and a servo with its arm',
  news: 'A waving robot, a calendar with a kit box, and a bug robot',
  shop: 'A kit box, a spider robot and a teddy bear robot',
  about: 'The founder and the director at their benches',
} as const
export type ShareImage = keyof typeof imageAlts
