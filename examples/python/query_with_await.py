"""SQLite calls a function that awaits, for each row of a query.

SQLite holds a connection's lock while a statement runs. So each task needs its own connection.
With a shared connection, a second task could interrupt the first task's statement halfway.
"""

import asyncio
import sqlite3

import coil
import loops


async def fetch_population(city):
    """The sleep simulates waiting for another server."""
    await asyncio.sleep(0.01)
    return {'Oslo': 717_710, 'Bergen': 291_940, 'Trondheim': 214_565}[city]


def largest_city(cities):
    connection = sqlite3.connect(':memory:')
    connection.create_function('population', 1, lambda city: coil.await_(fetch_population(city)))
    connection.execute('create table city (name text)')
    connection.executemany('insert into city values (?)', [(city,) for city in cities])
    return connection.execute(
        'select name, population(name) as n from city order by n desc limit 1').fetchone()


async def main():
    answers = await asyncio.gather(coil.run(largest_city, ['Bergen', 'Oslo']),
                                   coil.run(largest_city, ['Trondheim', 'Bergen']))
    for name, people in answers:
        print(f'{name}: {people}')


loops.run(main())
