import type { Content } from '../reading/blocks.ts'
import { news } from './news-cards.ts'

export const bugbots: Content = {
  kicker: 'News',
  title: news.bugbots.title,
  lead: news.bugbots.snippet,
  date: ['Published', news.bugbots.date],
  picture: news.bugbots.picture,
  parent: { to: '/news-guides', text: 'News & Guides' },
  opening: [
    'Most robots in films are large, heavy and made of metal. Some of the most exciting ones in laboratories are the opposite: as small as an insect, as soft as rubber, and very hard to break.',
    'Why soft? A hard thing that falls has to take the blow somewhere, and breaks there. A soft thing gives way and springs back. Insects have known this for hundreds of millions of years.',
  ],
  sections: [
    {
      id: 'runner',
      title: 'The one that runs',
      blocks: [
        {
          kind: 'picture',
          of: 'roach-robot',
          caption: 'Our drawing of a running film robot: one bent strip, one front leg.',
        },
        'In 2019 a team around the University of California, Berkeley showed a robot the size of a postage stamp. It is a bent strip of film that gets longer and shorter when a changing voltage is applied to it. Strip and leg beat the floor hundreds of times a second, and off it goes: 20 body lengths a second, about as quick for its size as a cockroach.',
        'Then someone stepped on it. An adult is about a million times heavier than the robot. It was flattened, and it ran on.',
        [
          'The paper: ',
          {
            href: 'https://www.science.org/doi/10.1126/scirobotics.aax1594',
            text: 'Insect-scale fast moving and ultrarobust soft robot',
          },
          ', Science Robotics, 2019.',
        ],
      ],
    },
    {
      id: 'flyer',
      title: 'The one that flies',
      blocks: [
        {
          kind: 'picture',
          of: 'bee-robot',
          caption: 'Our drawing of a flying robot: soft muscles in the middle, a wing on each side.',
        },
        'In the same year, researchers at Harvard flew a microrobot with soft artificial muscles. Each muscle weighs 100 milligrams, about as much as a few grains of rice, and works best at 500 beats a second. It can bump into a wall or another robot, fall, and simply fly again.',
        [
          'The paper: ',
          {
            href: 'https://www.nature.com/articles/s41586-019-1737-7',
            text: 'Controlled flight of a microrobot powered by soft artificial muscles',
          },
          ', Nature, 2019.',
        ],
      ],
    },
    {
      id: 'why',
      title: 'Why we like them',
      blocks: [
        'Small robots that take a knock could look for people under rubble, or check the inside of a machine without taking it apart. They also show what we say in every class: a motor is not the only way to move. Whatever changes its shape when you tell it to is a muscle. Working on small personal robots, and on electromagnetic robotic muscles, we think about that every day.',
        {
          kind: 'note',
          title: 'Try it at home',
          text: 'Cut a strip of stiff paper as long as a finger, bend it into an arch, and tape a small vibrating motor from an old toy on top. Bend the front edge down a little. Does it run? Which bend makes it faster?',
        },
      ],
    },
  ],
  next: [
    { to: '/news-guides', text: 'All news and guides' },
    { to: '/innovator', text: 'The Innovator Program' },
  ],
}
