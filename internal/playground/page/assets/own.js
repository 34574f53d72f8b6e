'use strict';
const $ = id => document.getElementById(id);
